//! A machine config, read and judged.

use bootlace_ignition::{Config, Version, parse};
use bootlace_model::fault::Fault;
use serde_json::{Map, Value};

use super::{ROLE, text};

/// What may stand in the spec of a machine config.
const KEYS: [&str; 7] = [
    "baseOSExtensionsContainerImage",
    "config",
    "extensions",
    "fips",
    "kernelArguments",
    "kernelType",
    "osImageURL",
];
/// The kernels that there are.
const KERNELS: [&str; 3] = ["default", "realtime", "64k-pages"];
/// The extensions that an operating system of OpenShift has.
const EXTENSIONS: [&str; 7] = [
    "ipsec",
    "kerberos",
    "kernel-devel",
    "sandboxed-containers",
    "sysstat",
    "two-node-ha",
    "usbguard",
];
/// What a controller writes on the configs that it makes.
const GENERATED: &str = "machineconfiguration.openshift.io/generated-by-controller-version";

/// A machine config.
#[derive(Debug, Clone)]
pub(super) struct MachineConfig {
    pub(super) name: String,
    /// The whole object.
    pub(super) object: Value,
    /// The Ignition config and its version; none if it says nothing about files and units.
    pub(super) ignition: Option<(Version, Config)>,
    pub(super) kernel_arguments: Vec<Value>,
    pub(super) extensions: Vec<Value>,
    pub(super) fips: bool,
    /// The kernel, if it is not the default one.
    pub(super) kernel_type: Option<String>,
    pub(super) os_image: Option<String>,
    pub(super) extensions_image: Option<String>,
    /// Whether a controller made it, so that images of people's own configs go before its own.
    pub(super) is_generated: bool,
}

impl MachineConfig {
    /// Reads an object; `file` is where it was written, for messages.
    pub(super) fn read(object: &Value, file: &str) -> Result<Self, Fault> {
        let name = text(object, "/metadata/name");
        let reader = Reader { name, file };
        let nothing = Map::new();
        let spec = object.get("spec").and_then(Value::as_object);
        let spec = spec.unwrap_or(&nothing);
        if let Some(key) = spec.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let known = KEYS.join(", ");
            return Err(reader
                .bad(&format!("spec.{key}"), "no machine config has this")
                .hint(format!("look for a misspelling; there are {known}")));
        }
        let extensions = reader.texts(spec, "extensions")?;
        if let Some(unknown) = extensions
            .iter()
            .filter_map(Value::as_str)
            .find(|extension| !EXTENSIONS.contains(extension))
        {
            return Err(reader
                .bad("spec.extensions", &format!("{unknown:?} is not known"))
                .hint(format!("use some of {}", EXTENSIONS.join(", "))));
        }
        let kernel_type = reader.text(spec, "kernelType")?;
        if let Some(kernel) = &kernel_type
            && !KERNELS.contains(&kernel.as_str())
        {
            return Err(reader
                .bad("spec.kernelType", &format!("{kernel:?} is not known"))
                .hint(format!("use one of {}", KERNELS.join(", "))));
        }
        let annotation = format!("/metadata/annotations/{}", GENERATED.replace('/', "~1"));
        Ok(Self {
            name: name.to_owned(),
            ignition: reader.ignition(spec)?,
            kernel_arguments: reader.texts(spec, "kernelArguments")?,
            extensions,
            fips: reader.flag(spec, "fips")?,
            kernel_type: kernel_type.filter(|kernel| kernel != "default"),
            os_image: reader.text(spec, "osImageURL")?,
            extensions_image: reader.text(spec, "baseOSExtensionsContainerImage")?,
            is_generated: object.pointer(&annotation).is_some(),
            object: object.clone(),
        })
    }

    /// Tells whom it is for.
    pub(super) fn role(&self) -> &str {
        let pointer = format!("/metadata/labels/{}", ROLE.replace('/', "~1"));
        text(&self.object, &pointer)
    }

    /// Returns a label.
    pub(super) fn label(&self, key: &str) -> Option<&str> {
        self.object
            .get("metadata")?
            .get("labels")?
            .get(key)?
            .as_str()
    }
}

/// Reads the fields of a spec; whatever has another type than it should is refused by name.
struct Reader<'o> {
    name: &'o str,
    file: &'o str,
}

impl Reader<'_> {
    fn bad(&self, path: &str, what: &str) -> Fault {
        let message = format!("{path} of the machine config {}: {what}", self.name);
        Fault::bad_input(message)
            .in_file(self.file)
            .because("Machines would be set up otherwise than you meant.")
    }

    fn text(&self, spec: &Map<String, Value>, key: &str) -> Result<Option<String>, Fault> {
        match spec.get(key) {
            None | Some(Value::Null) => Ok(None),
            // An empty text says nothing.
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.bad(&format!("spec.{key}"), "it must be a text")),
        }
    }

    fn flag(&self, spec: &Map<String, Value>, key: &str) -> Result<bool, Fault> {
        match spec.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.bad(&format!("spec.{key}"), "it must be true or false")),
        }
    }

    fn texts(&self, spec: &Map<String, Value>, key: &str) -> Result<Vec<Value>, Fault> {
        match spec.get(key) {
            None | Some(Value::Null) => Ok(vec![]),
            Some(Value::Array(items)) if items.iter().all(Value::is_string) => Ok(items.clone()),
            Some(_) => Err(self.bad(&format!("spec.{key}"), "it must be a list of texts")),
        }
    }

    fn ignition(&self, spec: &Map<String, Value>) -> Result<Option<(Version, Config)>, Fault> {
        let mut config = match spec.get("config") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(config)) if config.is_empty() => return Ok(None),
            Some(config) => config.clone(),
        };
        say_compression(&mut config);
        let parsed = parse(self.file, config.to_string().as_bytes());
        if let (Some(version), Some(config)) = (parsed.version, parsed.config) {
            return Ok(Some((version, config)));
        }
        let errors: Vec<String> = parsed
            .report
            .errors()
            .map(|finding| {
                let (path, problem) = (&finding.place.path, &finding.problem);
                format!("spec.config.{path}: {problem}; {}", problem.advice())
            })
            .collect();
        let message = format!(
            "the machine config {} holds an Ignition config that cannot be used",
            self.name
        );
        let mut fault = Fault::bad_input(message)
            .in_file(self.file)
            .because("No machine that gets it would boot: Ignition refuses the whole config.")
            .hint("write spec.config for Ignition 3, with ignition.version 3.4.0 or so");
        fault.details = errors;
        Err(fault)
    }
}

/// Says of every file with contents how it is compressed, also if it is not: else a file that is not
/// compressed would be taken for one that is, if it takes the place of such a one.
fn say_compression(config: &mut Value) {
    let files = config.pointer_mut("/storage/files");
    for file in files.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(Value::Object(contents)) = file.get_mut("contents")
            && contents.contains_key("source")
        {
            contents.entry("compression").or_insert_with(|| "".into());
        }
    }
}
