// Signing in at servers that have users of their own, or an identity provider: a password for a token, and for
// one that is good for getting new ones.

import { RequestError, request } from "./http.js";

/** @typedef {import("./access.js").OwnToken} OwnToken */

/**
 * What such a server answers, with status 200 for most errors.
 *
 * @param {any} answer
 * @returns {OwnToken}
 */
function tokenFrom(answer) {
  const { accessToken, refreshToken } = answer?.data?.tokens ?? {};
  if (answer?.hasError || typeof accessToken !== "string") {
    throw new RequestError(401, answer?.code);
  }
  return { token: accessToken, refreshToken, name: answer.data.response?.name };
}

/** @param {string} email @param {string} password */
export const logIn = async (email, password) =>
  tokenFrom(await request("/api/user/login", "POST", { email, password }));

/** @param {{invitation: string, email: string, password: string, name?: string}} fields */
export const joinBy = async (fields) => tokenFrom(await request("/api/user/join", "POST", fields));

/** @param {{email: string, password: string, newPassword: string}} fields */
export const changePassword = async (fields) => tokenFrom(await request("/api/user/password", "POST", fields));

/** @param {string} refreshToken */
export const renew = async (refreshToken) =>
  tokenFrom(await request("/api/user/refresh", "POST", { refreshToken }));

/** Takes the tokens of who has come back from the identity provider, which the server has for this browser. */
export const takeTokens = async () => tokenFrom(await request("/api/user/provider", "POST"));

/**
 * How people sign in here, beside with a token.
 *
 * @returns {Promise<{password: boolean, provider?: {name: string, address: string}}>}
 */
export async function waysToSignIn() {
  try {
    const { password, provider } = await request("/api/user/ways");
    return { password: password === true, provider };
  } catch {
    return { password: false };
  }
}
