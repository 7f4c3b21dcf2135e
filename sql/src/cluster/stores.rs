//! Where shards lie: a folder that all machines mount, or an object store that speaks S3. The store's address and key are those of the environment of
//! each process (`AWS_ENDPOINT`, `AWS_ACCESS_KEY_ID`, …): no question carries them.

use std::collections::HashMap;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use futures::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, WriteMultipart};
use tokio::runtime::Runtime;
use url::Url;

use crate::engine::runtime;
use crate::error::SqlError;

/// An environment that reads local files and S3.
pub fn environment() -> Result<Arc<RuntimeEnv>> {
    RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default())).build_arc()
}

/// Object stores by bucket, made when they are first asked for.
#[derive(Debug, Default)]
struct Stores {
    known: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key(url), store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = known.get(&key(url)) {
            return Ok(store.clone());
        }
        let store = open(url).map_err(|e| DataFusionError::External(e.to_string().into()))?;
        known.insert(key(url), store.clone());
        Ok(store)
    }
}

fn key(url: &Url) -> String {
    format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default())
}

fn open(url: &Url) -> std::result::Result<Arc<dyn ObjectStore>, SqlError> {
    match url.scheme() {
        "file" => Ok(Arc::new(LocalFileSystem::new())),
        "s3" => {
            let bucket = url.host_str().unwrap_or_default();
            let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build();
            Ok(Arc::new(store.map_err(|e| SqlError::Cluster(format!("s3://{bucket}: {e}")))?))
        }
        other => Err(SqlError::Cluster(format!("{other}://: shards lie in a folder or at s3://BUCKET/PREFIX"))),
    }
}

/// A folder of shards.
pub struct Folder {
    store: Arc<dyn ObjectStore>,
    root: Path,
    /// What every machine reads it under, without a `/` at its end.
    url: String,
    runtime: Runtime,
}

impl Folder {
    /// A directory that is there, or `s3://BUCKET/PREFIX`.
    pub fn open(place: &str) -> std::result::Result<Folder, SqlError> {
        Folder::at(place, false)
    }

    /// The same, for writing: a directory that is not there is made.
    pub fn create(place: &str) -> std::result::Result<Folder, SqlError> {
        Folder::at(place, true)
    }

    fn at(place: &str, make: bool) -> std::result::Result<Folder, SqlError> {
        let failed = |why: &dyn std::fmt::Display| SqlError::Cluster(format!("{place}: {why}"));
        let mut url = match place.contains("://") {
            true => Url::parse(place).map_err(|e| failed(&e))?,
            false => Url::from_directory_path(std::path::absolute(place).map_err(|e| failed(&e))?).map_err(|()| failed(&"not a path"))?,
        };
        let root = match url.scheme() {
            "file" => {
                let path = url.to_file_path().map_err(|()| failed(&"not a path"))?;
                if make {
                    std::fs::create_dir_all(&path).map_err(|e| failed(&e))?;
                }
                // One name for one folder, whatever links and `..` lead to it: the stores take no others.
                let path = path.canonicalize().map_err(|e| match e.kind() {
                    std::io::ErrorKind::NotFound => failed(&"no shard: there is no such folder"),
                    _ => failed(&e),
                })?;
                url = Url::from_directory_path(&path).map_err(|()| failed(&"not a path"))?;
                Path::from_absolute_path(path).map_err(|e| failed(&e))?
            }
            _ => Path::from_url_path(url.path()).map_err(|e| failed(&e))?,
        };
        let url_text = url.as_str().trim_end_matches('/').to_string();
        Ok(Folder { store: open(&url)?, root, url: url_text, runtime: runtime(2)? })
    }

    /// The URL of a file below it.
    pub fn url(&self, below: &str) -> String {
        format!("{}/{below}", self.url)
    }

    /// Writes a small file.
    pub fn put(&self, below: &str, bytes: Vec<u8>) -> std::result::Result<(), SqlError> {
        let path = self.path(below);
        let put = self.store.put(&path, PutPayload::from(bytes));
        self.runtime.block_on(put).map(|_| ()).map_err(|e| self.failed(below, &e))
    }

    /// Copies a file of this machine there, piece by piece.
    pub fn upload(&self, below: &str, from: &FilePath) -> std::result::Result<(), SqlError> {
        use std::io::Read as _;

        let mut file = std::fs::File::open(from).map_err(|e| self.failed(below, &e))?;
        self.runtime.block_on(async {
            let upload = self.store.put_multipart(&self.path(below)).await.map_err(|e| self.failed(below, &e))?;
            let mut to = WriteMultipart::new(upload);
            let mut piece = vec![0; 1 << 20];
            loop {
                let n = file.read(&mut piece).map_err(|e| self.failed(below, &e))?;
                if n == 0 {
                    break;
                }
                to.write(piece.get(..n).unwrap_or_default());
                to.wait_for_capacity(4).await.map_err(|e| self.failed(below, &e))?;
            }
            to.finish().await.map(|_| ()).map_err(|e| self.failed(below, &e))
        })
    }

    /// A small file; `None` if there is none.
    pub fn get(&self, below: &str) -> std::result::Result<Option<Vec<u8>>, SqlError> {
        self.runtime.block_on(async {
            match self.store.get(&self.path(below)).await {
                Ok(found) => found.bytes().await.map(|bytes| Some(bytes.to_vec())).map_err(|e| self.failed(below, &e)),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(e) => Err(self.failed(below, &e)),
            }
        })
    }

    /// Names of the files below, each with the folders above it.
    pub fn list(&self) -> std::result::Result<Vec<String>, SqlError> {
        let listed = self.runtime.block_on(self.store.list(Some(&self.root)).try_collect::<Vec<_>>());
        let mut names: Vec<String> = match listed {
            Ok(found) => found.iter().filter_map(|meta| self.below(&meta.location)).collect(),
            Err(object_store::Error::NotFound { .. }) => Vec::new(),
            Err(e) => return Err(self.failed("", &e)),
        };
        names.sort();
        Ok(names)
    }

    /// Removes a file.
    pub fn remove(&self, below: &str) -> std::result::Result<(), SqlError> {
        self.runtime.block_on(self.store.delete(&self.path(below))).map_err(|e| self.failed(below, &e))
    }

    fn below(&self, location: &Path) -> Option<String> {
        let parts: Vec<String> = location.prefix_match(&self.root)?.map(|part| part.as_ref().to_string()).collect();
        Some(parts.join("/"))
    }

    fn path(&self, below: &str) -> Path {
        below.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }

    fn failed(&self, below: &str, why: &dyn std::fmt::Display) -> SqlError {
        SqlError::Cluster(format!("{}: {why}", self.url(below)))
    }
}

impl std::fmt::Debug for Folder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.url)
    }
}
