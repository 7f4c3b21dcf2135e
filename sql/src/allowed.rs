//! What a question may be: SELECT, or EXPLAIN of one.

use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;

use crate::error::SqlError;

/// Refuses what is no question, by its text.
pub(crate) fn statement(statement: &Statement) -> Result<(), SqlError> {
    match statement {
        Statement::Statement(inner) => inner_statement(inner),
        Statement::Explain(explain) => self::statement(&explain.statement),
        Statement::CreateExternalTable(_) => Err(refused("CREATE EXTERNAL TABLE")),
        Statement::CopyTo(_) => Err(refused("COPY")),
        Statement::Reset(_) => Err(refused("RESET")),
    }
}

fn inner_statement(statement: &ast::Statement) -> Result<(), SqlError> {
    match statement {
        ast::Statement::Query(_) => Ok(()),
        ast::Statement::Explain { statement, .. } => inner_statement(statement),
        other => {
            let text = other.to_string();
            let word: Vec<&str> = text.split_whitespace().take(2).collect();
            Err(refused(&word.join(" ")))
        }
    }
}

fn refused(what: &str) -> SqlError {
    SqlError::Refused(format!("{what} is not answered"))
}

/// Refuses what is no question, by its plan: what the text did not show.
pub(crate) fn plan(plan: &LogicalPlan) -> Result<(), SqlError> {
    let options = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    options.verify_plan(plan).map_err(|e| SqlError::Refused(e.strip_backtrace()))
}
