#!/bin/sh
# The browser tests need Chromium: Debian's is installed where that is allowed, else they will say they were skipped.
for name in chromium chromium-browser google-chrome; do
    command -v "$name" > /dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "installing Chromium for the browser tests"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium \
        fonts-dejavu-core > /dev/null && exit 0
fi
echo "There is no Chromium and it could not be installed: the browser tests will be skipped."
