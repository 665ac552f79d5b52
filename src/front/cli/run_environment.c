/* Variables of the user, and of a program that is run. */
#include "run_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *cli_variable_get(const char *name)
{
    return getenv(name);
}

bool cli_variable_name(int index, char text[64])
{
    snprintf(text, 64, "LD_PRELOAD");
    for (char **at = environ; index > 0 && *at; at++)
        if (!strncmp(*at, "WEIR_", 5) && --index == 0)
            snprintf(text, 64, "%.*s", (int)strcspn(*at, "="), *at);
    return index == 0;
}
