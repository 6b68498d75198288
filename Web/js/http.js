// Asking the gateway over HTTP: JSON out, JSON in, and errors that a person can read.

/** A refusal by the server, with a text for people. */
export class RequestError extends Error {
  /** @param {string} message @param {number} status */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** @type {() => string | undefined} */
let tokenNow = () => undefined;

/** @param {() => string | undefined} token Asked at every request. */
export function authorise(token) {
  tokenNow = token;
}

/**
 * @param {string} path
 * @param {"GET" | "POST" | "PATCH" | "DELETE"} [method]
 * @param {object} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function request(path, method = "GET", body, signal) {
  /** @type {Record<string, string>} */
  const headers = {};
  const token = tokenNow();
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body ? JSON.stringify(body) : undefined,
      cache: "no-store",
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError("The server cannot be reached.", 0);
  }
  const text = await response.text();
  /** @type {any} */
  let answer;
  try {
    answer = text ? JSON.parse(text) : undefined;
  } catch {
    // Not ours; the status says enough.
  }
  if (response.ok) return answer;
  const message = answer?.message ?? answer?.error?.message ?? `The server answered ${response.status}.`;
  throw new RequestError(message, response.status);
}
