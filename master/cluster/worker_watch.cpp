#include "master/cluster/worker_watch.h"
