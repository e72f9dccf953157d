"""One file for each package: the library's own calls that answer a kind of claim.

The files import the library and the standard library alone, because they also run where Subnormal is not installed.
`ANSWERS[accountant, kind]` is a function of the kind's parameters.
"""
