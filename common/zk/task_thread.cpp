#include "common/zk/task_thread.h"
