"""WHY DID IT DIE? Rules on the record of a run that did not end well."""
