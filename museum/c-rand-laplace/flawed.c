/* A number with Laplace noise of scale 1 by the inverse of the distribution function, through docs/protocol.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double laplace(void) {
    double u = (rand() + 0.5) / (RAND_MAX + 1.0) - 0.5;
    return u < 0 ? log(1 + 2 * u) : -log(1 - 2 * u);
}

int main(void) {
    char line[4096];
    srand((unsigned)(time(NULL) ^ getpid()));
    while (fgets(line, sizeof line, stdin)) {
        char *data = strstr(line, "\"data\": "), *runs = strstr(line, "\"runs\": ");
        if (data == NULL || runs == NULL) {
            puts("{\"protocol\": 1}");
        } else {
            double value = strtod(data + 8, NULL);
            long left = strtol(runs + 8, NULL, 10);
            printf("{\"outcomes\": [");
            for (; left > 0; left--) printf("%.17g%s", value + laplace(), left > 1 ? ", " : "");
            puts("]}");
        }
        fflush(stdout);
    }
    return 0;
}
