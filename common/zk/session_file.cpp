#include "common/zk/session_file.h"
