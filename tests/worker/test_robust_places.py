"""Places that are not like home: forked, threaded, without streams, without privileges, with little of anything."""
