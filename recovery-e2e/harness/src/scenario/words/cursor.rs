//! Cursors of a page beside the head of a lane.

/// Holds in a page when its `cursor`, an expression, has come to `head`, the id of the last event
/// that the node has published, or past it: more may be published while the page is waited for.
pub fn has_reached(cursor: &str, head: Option<&str>) -> String {
    // Nothing was published yet.
    let Some(head) = head else { return "true".to_owned() };
    match head.split_once('-') {
        Some((epoch, number)) => format!(
            "(([epoch, number]) => epoch === '{epoch}' && Number(number) >= {number})\
             (({cursor} ?? '').split('-'))"
        ),
        // Of a form that is not known here: only the same has reached it.
        None => format!("{cursor} === {}", serde_json::Value::from(head)),
    }
}
