"""What datasets says and shows: nothing of it is on the device."""
