#include "common/zk/cluster_nodes.h"
