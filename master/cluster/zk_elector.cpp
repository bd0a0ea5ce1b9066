#include "master/cluster/zk_elector.h"
