pub mod dump;
pub mod index;
pub mod leader;
pub mod load;
pub mod member;
pub mod passwd;
pub mod schema;
pub mod status;
