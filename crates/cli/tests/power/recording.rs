//! The program at work on disks that remember everything.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use bootlace_model::event::Event;
use bootlace_testkit::dice::Dice;
use bootlace_testkit::disk::{Disk, Image, Loss, Record};

use crate::world::World;

/// What reached the disks while the program was at work, and what it said meanwhile.
#[derive(Debug)]
pub(crate) struct Recording {
    record: Record,
    base: Vec<Image>,
    /// Where in the record the program began.
    pub(crate) begin: usize,
    /// Where in the record the program ended.
    pub(crate) end: usize,
    /// What it announced, each with the place in the record at which it had been read.
    pub(crate) events: Vec<(usize, Event)>,
    /// What else it said.
    pub(crate) said: String,
    pub(crate) code: Option<i32>,
}

/// When the power is cut, and what is lost by it.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    pub(crate) position: usize,
    pub(crate) loss: Loss,
}

impl Recording {
    /// Runs a command on disks that hold `base`; `prepare` may make the disks fail.
    pub(crate) fn of(
        world: &World,
        base: &[Image],
        words: &[String],
        prepare: impl FnOnce(&[Disk]),
    ) -> Self {
        let (space, record) = (&world.space, Record::default());
        let names = world.layout.disks();
        let serve = |(number, name): (usize, &&str)| {
            let (file, content) = (format!("{name}.disk"), base[number].clone());
            let disk = Disk::serve(space, &file, content, &record, number).unwrap();
            let lazily = world.layout.filesystem.lazily();
            space.mount(disk.path(), name, lazily).unwrap();
            disk
        };
        let disks: Vec<Disk> = names.iter().enumerate().map(serve).collect();
        let begin = record.position();
        prepare(&disks);
        let mut command = space.command(&words[0]);
        command.args(&words[1..]).args(["--progress", "json"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let (mut events, mut said) = (vec![], String::new());
        for line in BufReader::new(program.stderr.take().unwrap()).lines() {
            let line = line.unwrap();
            match serde_json::from_str(&line) {
                Ok(event) => events.push((record.position(), event)),
                Err(_) => said.extend([line.as_str(), "\n"]),
            }
        }
        let code = program.wait().unwrap().code();
        let end = record.position();
        for (name, disk) in names.iter().zip(disks) {
            space.unmount(name).unwrap();
            disk.remove(space).unwrap();
        }
        Self {
            record,
            base: base.to_vec(),
            begin,
            end,
            events,
            said,
            code,
        }
    }

    /// Returns what a power cut leaves on each disk.
    pub(crate) fn after(&self, cut: &Cut) -> Vec<Image> {
        let mut loss = cut.loss.clone();
        let disks = self.base.iter().enumerate();
        disks
            .map(|(number, base)| {
                let left = self.record.cut(number, base, cut.position, &mut loss);
                // Each disk loses what it loses, whatever another one lost.
                if let Loss::Some { dice, .. } = &mut loss {
                    *dice = dice.fork();
                }
                left
            })
            .collect()
    }

    /// Returns what had been announced when the power was cut.
    pub(crate) fn announced(&self, cut: &Cut) -> impl Iterator<Item = &Event> {
        let before = self.events.iter();
        let before = before.take_while(|(position, _)| *position <= cut.position);
        before.map(|(_, event)| event)
    }

    /// Cuts right behind each announcement, everything that was not flushed being lost.
    pub(crate) fn cuts_at_announcements(&self) -> Vec<Cut> {
        let positions = self.events.iter().map(|(position, _)| *position);
        let mut positions: Vec<usize> = positions.chain([self.end]).collect();
        positions.dedup();
        let loss = Loss::All;
        let cut = |position| Cut {
            position,
            loss: loss.clone(),
        };
        positions.into_iter().map(cut).collect()
    }

    /// Returns a cut at a place in the record, with a loss by seed.
    pub(crate) fn cut_at(&self, world: &World, number: u64, seed: u64) -> Cut {
        let position = self.begin + usize::try_from(number).unwrap();
        let loss = Loss::of(Dice::new(seed).roll(), world.layout.filesystem.sector());
        Cut { position, loss }
    }
}
