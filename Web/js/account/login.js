// Signing in on servers with user accounts or an identity provider: exchanges a password for a token and a refresh
// token.

import { RequestError, request } from "../client/http.js";

/** @typedef {import("../state/access.js").OwnToken} OwnToken */

/**
 * Returns the tokens in an answer, or throws its error. Most errors have the status 200.
 *
 * @param {any} answer
 * @returns {OwnToken}
 */
function tokenFrom(answer) {
  const { accessToken, refreshToken, kept } = answer?.data?.tokens ?? {};
  if (answer?.hasError || typeof accessToken !== "string") {
    throw new RequestError(401, answer?.code);
  }
  return { token: accessToken, refreshToken, ...(kept && { isKept: true }), name: answer.data.response?.name };
}

/** @param {{email: string, password: string, keep: boolean}} fields `keep`: whether the browser stores the session. */
export const logIn = async (fields) => tokenFrom(await request("/api/user/login", "POST", fields));

/** @param {{invitation: string, email: string, password: string, name?: string, keep?: boolean}} fields */
export const joinBy = async (fields) => tokenFrom(await request("/api/user/join", "POST", fields));

/** @param {{email: string, password: string, newPassword: string, keep?: boolean}} fields */
export const changePassword = async (fields) => tokenFrom(await request("/api/user/password", "POST", fields));

/**
 * Requests a link for a new password by mail. The answer does not say whether the account exists.
 *
 * @param {string} email The name or mail address of the account.
 */
export async function forgotPassword(email) {
  const { code, hasError } = await request("/api/user/forgot", "POST", { email });
  if (hasError) throw new RequestError(401, code);
}

/** @param {{reset: string, newPassword: string, keep?: boolean}} fields */
export const resetPassword = async (fields) => tokenFrom(await request("/api/user/reset", "POST", fields));

/** @param {{refreshToken?: string, name: string}} fields The session, and the new display name. */
export const rename = async (fields) => tokenFrom(await request("/api/user/name", "POST", fields));

/** @param {string} [refreshToken] Without one, the server uses the browser's cookie. */
export const renew = async (refreshToken) =>
  tokenFrom(await request("/api/user/refresh", "POST", { refreshToken }));

/**
 * Ends the session.
 *
 * @param {string} [refreshToken] As for `renew`.
 */
export const logOut = (refreshToken) => request("/api/user/logout", "POST", { refreshToken });

/**
 * Ends the session of tokens that arrived after the sign-in was cancelled.
 *
 * @param {OwnToken} own
 */
export function giveBack({ refreshToken, isKept }) {
  if (refreshToken || isKept) logOut(refreshToken).catch(() => undefined);
}

/**
 * Requests the tokens that the server has for this browser after a sign-in at the identity provider.
 *
 * @param {boolean} keep Whether the browser stores the session.
 */
export const takeTokens = async (keep) => tokenFrom(await request("/api/user/provider", "POST", { keep }));

/**
 * Returns the ways to sign in on this server, besides a token.
 *
 * @returns {Promise<{password: boolean, forgot: boolean, provider?: {name: string, address: string}}>} Rejects if the server cannot
 * answer.
 */
export async function waysToSignIn() {
  const { password, forgot, provider } = await request("/api/user/ways");
  return { password: password === true, forgot: forgot === true, provider };
}
