//! What an effect touches, and what it writes there.

use bootlace_model::content::Content;
use bootlace_model::effect::{AppendFile, Effect, Fetch, Product};
use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::node::{Attributes, Owner, SpecialKind};
use bootlace_model::path::TargetPath;
use bootlace_model::token;

use super::content::Contents;
use super::{certificates, units};
use crate::folders::Folders;
use crate::port::{FetchRequest, HostError, Stat};

/// What a path shall be.
#[derive(Debug)]
pub(crate) enum Shape {
    File {
        content: Content,
        attributes: Attributes,
    },
    Directory {
        attributes: Attributes,
    },
    /// Belongs to whoever runs the tool if no owner is given.
    Link {
        target: String,
        owner: Option<Owner>,
    },
    /// The file that is there, with these attributes.
    Attributes {
        attributes: Attributes,
    },
    /// Another name of a file that is in place.
    HardLink {
        existing: TargetPath,
    },
    Nothing,
    /// A pipe or a socket.
    Special {
        kind: SpecialKind,
        attributes: Attributes,
    },
    /// No folder, unless something is in it by then.
    Hollow,
}

/// One path and what it shall be.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) path: TargetPath,
    pub(crate) shape: Shape,
}

/// Lists the paths that an effect changes, folders before what is in them.
pub(crate) fn touches(folders: &Folders<'_>, effect: &Effect) -> Result<Vec<TargetPath>, Fault> {
    Ok(match effect {
        Effect::SetUnit(set) => units::writes(folders, set)?
            .into_iter()
            .map(|write| write.path)
            .collect(),
        Effect::DropPath(drop) if drop.forget.is_none() => tree_below(folders, &drop.path)?,
        other if other.kind().is_act() => {
            let products = other.products();
            let products = products.iter().filter_map(Product::path).cloned();
            let mut paths: Vec<TargetPath> = products.collect();
            for edited in other.edits() {
                paths.extend(tree_below(folders, edited)?);
            }
            paths
        }
        other => other.path().into_iter().cloned().collect(),
    })
}

/// Works out what an effect writes; contents that it makes or fetches are made or fetched now.
pub(crate) fn writes(contents: &Contents<'_>, effect: &Effect) -> Result<Vec<Write>, Fault> {
    let folders = contents.folders;
    let host = folders.host();
    let one = |path: &TargetPath, shape| {
        vec![Write {
            path: path.clone(),
            shape,
        }]
    };
    Ok(match effect {
        Effect::PutFile(put) => {
            let missing = || Fault::internal(format!("{} cannot be put together yet", put.path));
            let content = contents.compose(&put.body)?.ok_or_else(missing)?;
            one(
                &put.path,
                Shape::File {
                    content,
                    attributes: put.attributes.clone(),
                },
            )
        }
        Effect::MakeDirectory(make) => one(
            &make.path,
            Shape::Directory {
                attributes: make.attributes.clone(),
            },
        ),
        Effect::MakeLink(link) => one(
            &link.path,
            Shape::Link {
                target: link.target.clone(),
                owner: link.owner,
            },
        ),
        Effect::SetAttributes(set) => one(
            &set.path,
            Shape::Attributes {
                attributes: set.attributes.clone(),
            },
        ),
        Effect::AppendFile(append) => one(&append.path, appended(contents, append)?),
        Effect::MakeHardLink(link) => one(
            &link.path,
            Shape::HardLink {
                existing: link.existing.clone(),
            },
        ),
        Effect::DropPath(drop) => {
            let mut paths = tree_below(folders, &drop.path)?;
            paths.reverse();
            paths
                .into_iter()
                .map(|path| Write {
                    path,
                    shape: Shape::Nothing,
                })
                .collect()
        }
        Effect::MakeKey(make) => {
            let key = host.make_key(make.algorithm)?;
            let content = Content::of(key.expose());
            one(
                &make.path,
                Shape::File {
                    content,
                    attributes: Attributes::mode(0o600),
                },
            )
        }
        Effect::MakeToken(make) => {
            let bits = host.secret_bits()?;
            let token = token::compose(&bits, host.now(), make.valid_for);
            let unfit = || Fault::internal(format!("{} cannot be made a token", make.path));
            let content = Content::of(token.ok_or_else(unfit)?.expose());
            one(
                &make.path,
                Shape::File {
                    content,
                    attributes: Attributes::mode(0o600),
                },
            )
        }
        Effect::IssueCertificate(issue) => {
            let content = Content::of(certificates::issue(contents, issue)?);
            one(
                &issue.path,
                Shape::File {
                    content,
                    attributes: Attributes::mode(0o644),
                },
            )
        }
        Effect::SetUnit(set) => units::writes(folders, set)?,
        Effect::Fetch(fetch) => one(&fetch.path, fetched(contents, fetch)?),
        Effect::RunCommand(_)
        | Effect::StartUnit(_)
        | Effect::ImportImages(_)
        | Effect::ApplyObjects(_)
        | Effect::Await(_) => vec![],
    })
}

/// Downloads what an effect fetches, and checks it.
fn fetched(contents: &Contents<'_>, fetch: &Fetch) -> Result<Shape, Fault> {
    let authorities = fetch.authorities.as_ref();
    let authorities = authorities.map(|path| contents.must_read(path));
    let authorities = authorities.transpose()?;
    let content = contents.folders.host().fetch(&FetchRequest {
        url: &fetch.url,
        authorities: authorities.as_deref(),
        trusts_system: false,
        headers: &[],
        limit: fetch.limit,
        within: fetch.within,
    })?;
    let found = Digest::of(&content);
    if found != fetch.digest {
        let (url, wanted) = (fetch.url.clone(), fetch.digest);
        return Err(HostError::WrongDigest { url, wanted, found }.into());
    }
    Ok(Shape::File {
        content: Content::of(content),
        attributes: fetch.attributes.clone(),
    })
}

/// Puts the old content and the new end together.
fn appended(contents: &Contents<'_>, append: &AppendFile) -> Result<Shape, Fault> {
    let path = &append.path;
    let old = contents.must_read(path)?;
    if Digest::of(&old) != append.before {
        return Err(added_to_another(path));
    }
    let mut attributes = append.attributes.clone();
    if let Some(dir) = contents.folders.holding(path)? {
        // The file is replaced, so what labels it had have to be given again.
        attributes.xattrs = dir.xattrs(path.name())?;
    }
    let content = Content::of([&*old, &*append.content.read()?].concat());
    Ok(Shape::File {
        content,
        attributes,
    })
}

/// Says that a file is not the one that was looked at.
pub(super) fn added_to_another(path: &TargetPath) -> Fault {
    Fault::refused(format!("{path} was changed since this run looked at it"))
        .in_file(path.as_str())
        .because("What is added at its end was meant for what it held before.")
        .hint("`bootlace undo` takes back what was done so far; then begin anew")
}

/// Lists a path and everything below it, folders before what is in them.
pub(crate) fn tree_below(
    folders: &Folders<'_>,
    path: &TargetPath,
) -> Result<Vec<TargetPath>, Fault> {
    let mut found = vec![path.clone()];
    let mut next = 0;
    while next < found.len() {
        let path = found[next].clone();
        next += 1;
        let Some(holding) = folders.holding(&path)? else {
            continue;
        };
        if !matches!(holding.stat(path.name())?, Some(Stat::Directory { .. })) {
            continue;
        }
        let Some(dir) = folders.open(&path)? else {
            continue;
        };
        for name in dir.list()? {
            found.push(
                path.join(&name)
                    .map_err(|bad| Fault::refused(bad.to_string()))?,
            );
        }
    }
    Ok(found)
}
