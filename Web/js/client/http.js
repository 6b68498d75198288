// Requests to the gateway over HTTP: JSON out, JSON in, and errors with a message for users.

import { at } from "../ground/base.js";
import { problemText } from "../ground/problems.js";

/** A failed request. Its message is for users. */
export class RequestError extends Error {
  /**
   * @param {number} status 0 when the server cannot be reached.
   * @param {unknown} [code] The server's error code.
   * @param {number} [until]
   */
  constructor(status, code, until) {
    super(problemText(code, status));
    this.status = status;
    this.code = code;
    /** @type {number | undefined} When the requested name becomes free; milliseconds. */
    this.until = until;
  }
}

/**
 * Whether a retry may succeed.
 *
 * @param {unknown} error
 * @returns {error is RequestError}
 */
export const isPassing = (error) =>
  error instanceof RequestError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** @type {() => string | undefined} */
let tokenNow = () => undefined;

/** @param {() => string | undefined} token Called for each request. */
export function authorise(token) {
  tokenNow = token;
}

/**
 * @param {string} path
 * @param {"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} [method]
 * @param {object | Blob} [body] JSON, or a file.
 * @param {AbortSignal} [signal]
 * @param {string} [key] The server performs requests with the same key once.
 * @returns {Promise<any>}
 */
export async function request(path, method = "GET", body, signal, key) {
  return (await exchange(path, method, key === undefined ? {} : { "Idempotency-Key": key }, body, signal)).answer;
}

/**
 * Sends a GET with `If-None-Match`. `isSame` is true if the cached answer is still valid (304).
 *
 * @param {string} path
 * @param {string} [tag] The ETag of the cached answer.
 * @returns {Promise<{isSame: boolean, answer?: any, tag?: string}>}
 */
export const requestUnless = (path, tag) => exchange(path, "GET", tag ? { "If-None-Match": tag } : {});

/**
 * @param {string} path
 * @param {string} method
 * @param {Record<string, string>} headers
 * @param {object | Blob} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<{isSame: boolean, answer?: any, tag?: string}>}
 */
async function exchange(path, method, headers, body, signal) {
  const token = tokenNow();
  if (token) headers.Authorization = `Bearer ${token}`;
  const isFile = body instanceof Blob;
  if (body) headers["Content-Type"] = isFile ? "application/octet-stream" : "application/json";
  /** @type {Response} */
  let response;
  let text = "";
  try {
    response = await fetch(at(path), {
      method,
      headers,
      body: isFile ? body : body ? JSON.stringify(body) : undefined,
      cache: "no-store",
      signal,
    });
    // The connection may also fail while the body is read.
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError(0);
  }
  /** @type {any} */
  let answer;
  try {
    answer = text ? JSON.parse(text) : undefined;
  } catch {
    // The body is not from the gateway, for example a proxy's error page. The status is sufficient.
  }
  const isSame = response.status === 304;
  if (response.ok || isSame) return { isSame, answer, tag: response.headers?.get("etag") ?? undefined };
  throw new RequestError(response.status, answer?.code, answer?.until);
}

/** Maximum attempts at a request that the server asks to retry later (429, 503). */
const triesMax = 8;

/**
 * Fetches a file with this user's token.
 *
 * @param {string} path
 * @param {Record<string, string>} [headers]
 * @param {RequestCache} [cache]
 * @returns {Promise<Response | undefined>} Undefined if the file does not exist (404).
 */
export async function authorised(path, headers = {}, cache = "no-store") {
  const token = tokenNow();
  for (let tries = 1; ; tries += 1) {
    /** @type {Response} */
    let response;
    try {
      response = await fetch(at(path), {
        headers: token ? { ...headers, Authorization: `Bearer ${token}` } : headers,
        cache,
      });
    } catch {
      throw new RequestError(0);
    }
    if (response.ok) return response;
    if (response.status === 404) return undefined;
    if (![429, 503].includes(response.status) || tries === triesMax) throw new RequestError(response.status);
    const seconds = Number(response.headers.get("retry-after")) || 1;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  }
}
