// Signing in at servers that have users of their own: a password for a token, and for one that is good
// for getting new ones.

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

/** Whether there are users with passwords at all. A server that has none knows no such path. */
export async function hasUsers() {
  try {
    await request("/api/user/refresh", "POST", {});
    return true;
  } catch {
    return false;
  }
}
