#include "core/check.h"
