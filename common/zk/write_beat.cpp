#include "common/zk/write_beat.h"
