/** Throws if the image that is being made is a release (build argument RELEASE) whose base is named by a tag, which can be moved. */
export function assertPinned({ RELEASE, BASE }: { RELEASE?: string; BASE?: string }): void {
  if (!RELEASE || /@sha256:[0-9a-f]{64}$/.test(BASE ?? '')) return;
  throw new Error(
    `expected the base image of release ${RELEASE} by its digest (--build-arg BASE=…@sha256:…), found ${BASE}; see "A release" in deploy/README.md`,
  );
}
