#include "master/core/cron.h"
