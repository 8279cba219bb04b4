// ETags name the versions of an object. Not all servers, nor the proxies before them, write one alike in a listing and elsewhere.

/** Quotes, and the mark of a weak one, do not count. */
export function sameVersion(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && bare(one) === bare(other);
}

function bare(etag: string): string {
  return etag.replace(/^W\//, "").replaceAll('"', "");
}
