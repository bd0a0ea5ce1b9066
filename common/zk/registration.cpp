#include "common/zk/registration.h"
