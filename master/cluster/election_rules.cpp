#include "master/cluster/election_rules.h"
