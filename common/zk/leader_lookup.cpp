#include "common/zk/leader_lookup.h"
