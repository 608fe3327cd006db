mod evaluation;
mod strings;
