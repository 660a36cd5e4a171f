//! Ignition configs, applied to real folders by the real engine; owners need root.


mod cases;
mod world;
