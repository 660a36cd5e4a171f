//! Real filesystems on a disk whose power can be cut at every write.
//!
//! A [`Disk`] is a file that this process serves to the kernel through FUSE; a loop device makes a
//! block device of it, and a real filesystem lies on that. Every write and every flush that reaches
//! the disk is written down. What a power cut leaves is made of that [`Record`]: all that was
//! written before the last flush, and of the rest what a [`Loss`] lets survive.

mod filesystem;
mod fuse;
mod image;
mod loss;
mod record;
mod server;
mod space;

pub use filesystem::Filesystem;
pub use image::Image;
pub use loss::Loss;
pub use record::Record;
pub use server::Disk;
pub use space::Space;
