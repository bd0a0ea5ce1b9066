#include "master/core/schedule.h"
