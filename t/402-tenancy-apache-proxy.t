#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Both blueprints behind apache-proxy.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Blueprints;

Tenure::Blueprints::run('apache-proxy');

done_testing;
