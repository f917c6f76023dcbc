/** The faults among checks that each read `isWrong && 'what was expected, what was found'`. */
export const faultsIn = (...checks: readonly (string | false | undefined | readonly string[])[]): string[] =>
  checks.flatMap((check) => check || []);

/**
 * How much an attempt may download beyond the object: the importer looks at the first bytes before it asks for scratch
 * space and begins again, and what is on its way then has been sent.
 */
export const slackBytesPerAttempt = 512 * 1024;

/** Checks that an image was downloaded once, and nothing else during the act. */
export const downloadFaults = (
  act: string,
  { name, bytesDownloaded, bytesNeeded }: { name: string; bytesDownloaded: number; bytesNeeded: number },
  otherBytes: number,
  most = bytesNeeded + slackBytesPerAttempt,
): string[] =>
  faultsIn(
    (bytesDownloaded < bytesNeeded || bytesDownloaded > most) &&
      `${name}: expected one download (${bytesNeeded} to ${most} bytes), found ${bytesDownloaded} bytes`,
    otherBytes > 0 && `${act}: expected no other download, found ${otherBytes} bytes`,
  );
