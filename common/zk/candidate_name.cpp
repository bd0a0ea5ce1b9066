#include "common/zk/candidate_name.h"
