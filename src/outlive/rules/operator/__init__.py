"""WHAT WILL A RUNTIME NOT RUN? Rules on operators that a runtime lacks, or has and refuses."""
