//! `GET /v1/events`: the changes of a tenant's state, as server-sent events.
//!
//! Who reads too slowly is told how many he missed (`event: missed`), and asks again for what he wants to see.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use super::App;
use super::request::{Who, bearer};
use super::respond::response;
use crate::govern::client::Frontend;
use crate::serve::service::{Event, Problem, Service};
use crate::serve::tenants::Tenant;

/// A line that says nothing, so that what lies between does not take the stream for dead.
const QUIET: Duration = Duration::from_secs(15);
/// How long a line waits for its reader; the stream of who takes longer ends.
const UNREAD: Duration = Duration::from_secs(30);
/// How long a stream lasts; then the client asks again, with a token that must still be known.
const LONGEST: Duration = Duration::from_secs(3600);

pub(super) async fn stream(
    State(app): State<App>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let identity = who.0;
    identity
        .tenant
        .rate
        .take()
        .map_err(|after| Problem::too_many("the tenant calls more often than it may", after))?;
    let events = app.service.events(&identity);
    let (sender, receiver) = mpsc::channel(8);
    let token = bearer(&headers).unwrap_or_default().to_owned();
    let whose = Arc::downgrade(&identity.tenant);
    tokio::spawn(pass_on(app.service.clone(), (token, whose), events, sender));
    Ok(response(
        HeaderValue::from_static("text/event-stream"),
        Body::new(Lines(receiver)),
    ))
}

/// Ends when nobody reads any more, when the token is none any more or the tenant was changed (its changes are told
/// elsewhere then, and the client asks again), with the service, or after the longest time.
async fn pass_on(
    service: Service,
    (token, whose): (String, Weak<Tenant>),
    mut events: broadcast::Receiver<Event>,
    lines: mpsc::Sender<Bytes>,
) {
    let ending = service.ending();
    let longest = tokio::time::sleep(LONGEST);
    let mut longest = std::pin::pin!(longest);
    let mut line = Bytes::from_static(b"retry: 1000\n\n");
    loop {
        tokio::select! {
            () = ending.cancelled() => return,
            sent = lines.send_timeout(line, UNREAD) => if sent.is_err() { return },
        }
        line = tokio::select! {
            () = ending.cancelled() => return,
            () = longest.as_mut() => return,
            () = lines.closed() => return,
            () = tokio::time::sleep(QUIET) => Bytes::from_static(b": quiet\n\n"),
            event = events.recv() => match event {
                Ok(event) => line_of(&event),
                Err(RecvError::Lagged(missed)) => {
                    Bytes::from(format!("event: missed\ndata: {{\"missed\":{missed}}}\n\n"))
                }
                Err(RecvError::Closed) => return,
            },
        };
        let now = service.authenticate(&token, Frontend::Http);
        if !now.is_ok_and(|now| std::ptr::eq(Arc::as_ptr(&now.tenant), whose.as_ptr())) {
            return;
        }
    }
}

fn line_of(event: &Event) -> Bytes {
    let data = serde_json::to_string(event).unwrap_or_default();
    Bytes::from(format!("event: {}\ndata: {data}\n\n", event.name()))
}

/// What is passed on, as a body.
struct Lines(mpsc::Receiver<Bytes>);

impl HttpBody for Lines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}
