#include "common/zk/paths.h"
