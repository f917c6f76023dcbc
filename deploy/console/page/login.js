// A user who followed a link to an object is led to it: a redirect keeps the fragment of the address that was posted to.
const { search, hash } = location;
document.forms[0].action = `login${search}${hash}`;
