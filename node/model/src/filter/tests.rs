mod strings;
