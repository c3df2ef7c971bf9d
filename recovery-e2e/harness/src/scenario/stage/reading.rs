//! Reading the fields of a scenario's stamp.

use super::{Stage, StageError, Subject};
use crate::browser::page::PageError;
use crate::node::client::{Dashboard, Driven, Pane, TwoPanes};
use crate::proxy::{Class, Counters};
use crate::scenario::{Field, Read};

impl Stage {
    /// From here on, what a field counts since the last mark begins anew.
    pub fn mark(&mut self) {
        self.mark = self.counters();
    }

    /// How many requests of `class` have reached the proxy since the last mark.
    pub fn since_mark(&self, class: Class) -> u64 {
        self.counters().of(class).arrived - self.mark.of(class).arrived
    }

    /// How many requests of `class` have reached the proxy.
    pub fn arrived(&self, class: Class) -> u64 {
        self.counters().of(class).arrived
    }

    fn counters(&self) -> Counters {
        self.proxy.counters().borrow().clone()
    }

    /// Reads these fields now: the moment that counts for them.
    ///
    /// # Errors
    /// When one is not declared or cannot be read.
    pub async fn read(&mut self, names: &[&'static str]) -> Result<(), StageError> {
        for name in names {
            let field = self.declared(name)?;
            let value = self.value_of(field).await?;
            self.log.read(field.name, value);
        }
        Ok(())
    }

    /// Keeps what the story has seen as the value of a field.
    ///
    /// # Errors
    /// When it is not declared.
    pub fn saw(&mut self, name: &'static str, value: u64) -> Result<(), StageError> {
        let field = self.declared(name)?;
        self.log.read(field.name, value);
        Ok(())
    }

    /// Whether a field was read, with the value that it must have.
    ///
    /// # Errors
    /// When it is not declared.
    pub fn is_as_expected(&self, name: &'static str) -> Result<bool, StageError> {
        let field = self.declared(name)?;
        Ok(self.log.reading(field.name) == Some(field.expected))
    }

    /// Reads each field that was not read before, at the end of the story.
    ///
    /// # Errors
    /// When one cannot be read.
    pub async fn read_the_rest(&mut self) -> Result<(), StageError> {
        for field in self.unread() {
            let value = self.value_of(field).await?;
            self.log.read(field.name, value);
        }
        Ok(())
    }

    /// The same, after a claim that was not met: what cannot be read is left out.
    pub async fn read_what_can_be_read(&mut self) {
        let seen = |field: &&Field| !matches!(field.read, Read::InStory(_));
        for field in self.unread().filter(seen) {
            if let Ok(value) = self.value_of(field).await {
                self.log.read(field.name, value);
            }
        }
    }

    fn unread(&self) -> impl Iterator<Item = &'static Field> + use<> {
        let read = self.log.readings();
        let fields = self.scenario.fields.iter();
        fields.filter(move |field| read.iter().all(|(name, _)| *name != field.name))
    }

    fn declared(&self, name: &'static str) -> Result<&'static Field, StageError> {
        let found = self.scenario.fields.iter().find(|field| field.name == name);
        found.ok_or_else(|| self.undeclared(format!("field {name:?}")))
    }

    async fn value_of(&self, field: &Field) -> Result<u64, StageError> {
        Ok(match field.read {
            Read::Arrived(class) => self.arrived(class),
            Read::Since(class) => self.since_mark(class),
            Read::AnySince(class) => u64::from(self.since_mark(class) > 0),
            Read::Page(quantity) => self.driven()?.measure(quantity).await?,
            Read::Holds(condition) => u64::from(self.driven()?.holds(condition).await?),
            Read::By(read) => read(self).await?,
            Read::InStory(otherwise) => otherwise,
        })
    }

    /// The page that the scenario drives.
    ///
    /// # Errors
    /// When none is open.
    pub fn driven(&self) -> Result<&Driven, StageError> {
        match &self.subject {
            Some(Subject::Pane(pane)) => Ok(pane),
            Some(Subject::TwoPanes(panes)) => Ok(panes),
            Some(Subject::Dashboard(dashboard)) => Ok(dashboard),
            None => Err(no_page("a page")),
        }
    }

    /// The pane that the scenario drives.
    ///
    /// # Errors
    /// When none is open.
    pub fn pane(&self) -> Result<&Pane, StageError> {
        match &self.subject {
            Some(Subject::Pane(pane)) => Ok(pane),
            _ => Err(no_page("a pane")),
        }
    }

    /// The two panes that the scenario drives.
    ///
    /// # Errors
    /// When none are open.
    pub fn two_panes(&self) -> Result<&TwoPanes, StageError> {
        match &self.subject {
            Some(Subject::TwoPanes(panes)) => Ok(panes),
            _ => Err(no_page("two panes")),
        }
    }

    /// The dashboard that the scenario drives.
    ///
    /// # Errors
    /// When it is not open.
    pub fn dashboard(&self) -> Result<&Dashboard, StageError> {
        match &self.subject {
            Some(Subject::Dashboard(dashboard)) => Ok(dashboard),
            _ => Err(no_page("a dashboard")),
        }
    }
}

fn no_page(what: &str) -> StageError {
    PageError::Answer { what: what.to_owned(), answer: "none is open".to_owned() }.into()
}
