from subnormal.audit.__main__ import entry

entry()
