# SPDX-License-Identifier: Apache-2.0
# Ends a test at its first failure, for scripts/mutate, which asks for no more: prove -e 'perl -It/lib -MTenure::FirstFailure'.
package Tenure::FirstFailure;

use strict;
use warnings;

use Test::Builder ();
use Test2::API    ();

my ($owner, $ended) = ($$, 0);
Test2::API::test2_add_callback_context_release(sub {
    my ($context) = @_;
    $context->bail('(the first failure)') if $$ == $owner && !$context->hub->is_passing && !$ended++;
});

1;
