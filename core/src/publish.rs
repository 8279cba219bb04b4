//! Putting a staged file in its place in one step (promise G2).

use rustix::fd::AsFd;
use rustix::fs;
use rustix::io::{Errno, Result};

use crate::lock::names;
use crate::stage::{Staged, Staging, random_name};
use crate::sys;

/// What a file was put in place of.
#[derive(Debug)]
pub(crate) enum Swapped {
    /// The file that stood there, now under this name in the staging folder.
    For(String),
    /// This file system has no exchange: what stood there is gone.
    Blindly,
}

/// Gives the staged file a name that nothing has yet; EEXIST otherwise.
pub(crate) fn place_new(staging: &Staging, staged: &mut Staged, folder: impl AsFd, name: &str) -> Result<()> {
    let Some(temp) = staged.name_mut().clone() else { return sys::link_unnamed(staged.file(), folder, name) };
    match sys::rename_new(staging.folder(), &temp, &folder, name) {
        // No such flag on this file system: link without replacing does the same in two steps.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            fs::linkat(staging.folder(), temp.as_str(), folder, name, fs::AtFlags::empty())?;
            staging.discard(&temp);
        }
        other => other?,
    }
    *staged.name_mut() = None;
    Ok(())
}

/// Puts the staged file in place of what stands at `name`; ENOENT when nothing does any more.
pub(crate) fn swap_in(staging: &Staging, staged: &mut Staged, folder: impl AsFd, name: &str) -> Result<Swapped> {
    let temp = if let Some(temp) = staged.name_mut().clone() {
        temp
    } else {
        let temp = random_name();
        sys::link_unnamed(staged.file(), staging.folder(), &temp)?;
        *staged.name_mut() = Some(temp.clone());
        temp
    };
    let swapped = match sys::exchange(staging.folder(), &temp, &folder, name) {
        Ok(()) => Swapped::For(temp),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            fs::renameat(staging.folder(), temp.as_str(), folder, name)?;
            Swapped::Blindly
        }
        Err(errno) => return Err(errno),
    };
    *staged.name_mut() = None;
    Ok(swapped)
}

/// Undoes [`swap_in`]: the file that was displaced goes back, the staged one returns. Other programs may change the name
/// all the while; what they put there after ours is newer than both and stays.
pub(crate) fn put_back(
    staging: &Staging,
    staged: &mut Staged,
    folder: impl AsFd,
    name: &str,
    displaced: String,
) -> Result<()> {
    for _ in 0..MAX_RACES {
        match sys::exchange(staging.folder(), &displaced, &folder, name) {
            Ok(()) if names(staging.folder(), &displaced, staged.file()) => {
                *staged.name_mut() = Some(displaced);
                return Ok(());
            }
            // What stood there was not ours: it goes back, and what it has replaced goes.
            Ok(()) => match sys::exchange(staging.folder(), &displaced, &folder, name) {
                Ok(()) => {
                    staging.discard(&displaced);
                    return Ok(());
                }
                // The displaced one was taken away again at once: then theirs is put back below.
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            },
            // Ours was taken away.
            Err(Errno::NOENT) => match sys::rename_new(staging.folder(), &displaced, &folder, name) {
                Err(Errno::EXIST) => {}
                other => return other,
            },
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::BUSY)
}

/// Undoes [`place_new`]. By a rename, for a file that has lost its last name gets no other.
pub(crate) fn take_back(staging: &Staging, staged: &mut Staged, folder: impl AsFd, name: &str) -> Result<()> {
    if !names(&folder, name, staged.file()) {
        return Ok(()); // replaced or removed by somebody else: nothing of ours is left
    }
    let temp = random_name();
    fs::renameat(folder, name, staging.folder(), temp.as_str())?;
    *staged.name_mut() = Some(temp);
    Ok(())
}

/// Nobody is that quick that often.
const MAX_RACES: usize = 32;
