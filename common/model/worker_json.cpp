#include "common/model/worker_json.h"
