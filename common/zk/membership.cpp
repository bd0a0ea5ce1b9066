#include "common/zk/membership.h"
