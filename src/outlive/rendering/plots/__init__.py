"""WHERE DO THE MARKS OF A PICTURE GO? A module for each kind of result that has one: `marks(result)`."""
