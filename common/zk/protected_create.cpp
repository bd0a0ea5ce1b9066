#include "common/zk/protected_create.h"
