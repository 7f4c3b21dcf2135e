//! A table of Parquet files: each may lack columns, have others in another type, end before its last row, and have constants of its own.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetRowSelection;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::object_store::ObjectMeta;
use datafusion::object_store::path::Path;
use datafusion::physical_plan::ExecutionPlan;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::error::SqlError;

/// Parquet files as one table.
#[derive(Debug)]
pub struct Files {
    /// The columns that files can have; a file of another type is cast, a file without the column has NULL.
    pub columns: SchemaRef,
    /// Names of the columns of which each file has one text, behind the others.
    pub constants: Vec<String>,
    pub files: Vec<FileOf>,
}

/// One file of a table.
#[derive(Clone, Debug)]
pub struct FileOf {
    pub path: PathBuf,
    /// Rows that count, from the first; `None` for all.
    pub rows: Option<usize>,
    /// The texts of [`Files::constants`].
    pub constants: Vec<Option<String>>,
}

impl Files {
    fn schema(&self) -> TableSchema {
        let constant = |name: &String| -> FieldRef { Arc::new(Field::new(name, DataType::Utf8, true)) };
        let constants: Vec<FieldRef> = self.constants.iter().map(constant).collect();
        TableSchema::builder(self.columns.clone()).with_table_partition_cols(constants).build()
    }
}

impl FileOf {
    fn part(&self) -> Result<PartitionedFile> {
        let size = std::fs::metadata(&self.path).map_err(|e| self.failed(e))?.len();
        let location = Path::from_absolute_path(&self.path).map_err(|e| self.failed(e))?;
        // Of the file system as it is: what was written since the last look is seen.
        let last_modified = chrono::DateTime::<chrono::Utc>::UNIX_EPOCH;
        let mut part = PartitionedFile::new_from_meta(ObjectMeta { location, last_modified, size, e_tag: None, version: None });
        part.partition_values = self.constants.iter().map(|text| ScalarValue::Utf8(text.clone())).collect();
        match self.rows {
            Some(rows) => Ok(part.with_extension(self.first(rows)?)),
            None => Ok(part),
        }
    }

    /// The first rows of all.
    fn first(&self, rows: usize) -> Result<ParquetRowSelection> {
        let file = File::open(&self.path).map_err(|e| self.failed(e))?;
        let reader = SerializedFileReader::new(file).map_err(|e| self.failed(e))?;
        let all = usize::try_from(reader.metadata().file_metadata().num_rows()).map_err(|e| self.failed(e))?;
        let rows = rows.min(all);
        Ok(ParquetRowSelection::new(RowSelection::from(vec![RowSelector::select(rows), RowSelector::skip(all - rows)])))
    }

    fn failed(&self, why: impl std::fmt::Display) -> DataFusionError {
        DataFusionError::External(Box::new(SqlError::Read(format!("{}: {why}", self.path.display()))))
    }
}

/// The table as the engine reads it.
#[derive(Debug)]
pub(crate) struct FilesTable(pub Arc<Files>);

#[async_trait]
impl TableProvider for FilesTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema().table_schema().clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions are left to the engine, which gives them to the files for their statistics.
    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut parts = self.0.files.iter().map(FileOf::part).collect::<Result<Vec<_>>>()?;
        let groups = state.config().target_partitions().clamp(1, parts.len().max(1));
        let each = parts.len().div_ceil(groups).max(1);
        let mut grouped = Vec::with_capacity(groups);
        while !parts.is_empty() {
            let rest = parts.split_off(each.min(parts.len()));
            grouped.push(FileGroup::new(std::mem::replace(&mut parts, rest)));
        }
        let source = Arc::new(ParquetSource::new(self.0.schema()));
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_file_groups(grouped)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
