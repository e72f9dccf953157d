/* A subject for runner.c: randomized response, two maps, two queries. With -DFLAWED=1 three of them have flaws. */
#ifndef FLAWED
#define FLAWED 0
#endif
static uint64_t uniform(uint64_t n) {
    int width = 0;
    uint64_t drawn;
    while (n >> width) width++;
    while ((drawn = take(width)) >= n) continue;
    return drawn;
}
static int sample(double *outcome) {
    if (!is("function", "randomized-response")) return 0;
    char *end;
    uint64_t top = strtoull(word("probability"), &end, 10), bottom = *end == '/' ? strtoull(end + 1, NULL, 10) : 1;
    uint64_t truth = (uint64_t)number("truth"), lie = 0;
    if (uniform(bottom) < top) return *outcome = (double)truth, 1;
    lie = uniform((uint64_t)number("categories") - 1);
    return *outcome = (double)(lie + (lie >= truth && !FLAWED)), 1;
}
static int map(double *said) {
    if (is("function", "gaussian-zcdp")) return *said = (FLAWED ? 0.25 : 0.5) / number("sigma") / number("sigma"), 1;
    if (is("function", "laplace-accuracy")) return *said = -number("scale") * log(number("alpha")), 1;
    return 0;
}
static int query(const double *records, size_t count, double *answer) {
    if (!is("function", "sized-sum") && !is("function", "count")) return 0;
    *answer = is("function", "count") ? (double)count : 0;
    for (size_t i = 0; i < count && FLAWED; i++) if (isnan(records[i])) return *answer = (double)count - 1, 1;
    for (size_t i = 0; i < count && is("function", "sized-sum"); i++)
        *answer += fmin(fmax(records[i], number("lower")), number("upper"));
    return 1;
}
