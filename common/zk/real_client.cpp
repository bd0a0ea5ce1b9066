#include "common/zk/real_client.h"
