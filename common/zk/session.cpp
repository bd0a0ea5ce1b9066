#include "common/zk/session.h"
